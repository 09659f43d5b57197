import type { ReactNode } from 'react'
import { useTokens } from '../api/queries.ts'
import { useSession } from '../api/session.tsx'
import type { Token } from '../api/wire.ts'
import { Title } from '../frame/title.tsx'
import { Card } from '../parts/card.tsx'
import { Moment } from '../parts/moment.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { Empty, Loading, Trouble } from '../parts/trouble.tsx'
import { VirtualRows } from '../parts/virtual-rows.tsx'
import { NewToken } from '../tokens/new-token.tsx'
import { Revoke } from '../tokens/revoke.tsx'
import { inWords } from '../words/format.ts'
import { useNow } from '../words/now.ts'

/** Who may what: tokens and the browsers signed in with them. Secrets are shown nowhere. */
export function TokensPlace(): ReactNode {
  const session = useSession()
  const { data, error } = useTokens(session.can('listTokens'))
  const now = useNow()
  if (!session.can('listTokens'))
    return <Empty title="Only for admins">Tokens are listed for tokens of scope admin.</Empty>
  const good = (data ?? []).filter((token) => isGood(token, now))
  return (
    <div className="page">
      <Title text="Tokens" />
      {error === null ? null : <Trouble error={error} />}
      {data === undefined ? (
        <Loading />
      ) : (
        <>
          <div>
            <p className="text-lg font-semibold tracking-[-0.015em]">
              {inWords(good.length)} {good.length === 1 ? 'token is' : 'tokens are'} good
            </p>
            <p className="text-text-2">
              A secret is shown once, when its token is made. Revoking ends a token and the sessions made of it.
            </p>
          </div>
          {session.can('createToken') ? <NewToken /> : null}
          <Card>
            <Scroll label="Tokens">
              <table className="rows">
                <thead>
                  <tr>
                    <th>Name</th>
                    <th>Scope</th>
                    <th className="hidden @min-[560px]:table-cell">Kind</th>
                    <th className="hidden @min-[840px]:table-cell">Id</th>
                    <th className="num hidden @min-[480px]:table-cell">Made</th>
                    <th className="num">Good until</th>
                    <th aria-label="Actions" />
                  </tr>
                </thead>
                <VirtualRows items={data} keyOf={({ id }) => id}>
                  {(token) => (
                    <tr className={isGood(token, now) ? '' : 'text-text-3'}>
                      <td className="font-medium">{token.name}</td>
                      <td>{token.scope}</td>
                      <td className="hidden text-text-2 @min-[560px]:table-cell">
                        {token.as === undefined
                          ? 'token'
                          : token.as === 'session'
                            ? 'browser'
                            : 'link, for one sign-in'}
                      </td>
                      <td className="mono hidden text-text-3 @min-[840px]:table-cell">{token.id}</td>
                      <td className="num hidden whitespace-nowrap text-text-2 @min-[480px]:table-cell">
                        <Moment at={token.createdAt} />
                      </td>
                      <td className="num whitespace-nowrap text-text-2">
                        {token.revokedAt !== undefined ? (
                          'revoked'
                        ) : token.expiresAt === undefined ? (
                          'it is revoked'
                        ) : (
                          <Moment at={token.expiresAt} />
                        )}
                      </td>
                      <td className="num">{isGood(token, now) ? <Revoke token={token} /> : null}</td>
                    </tr>
                  )}
                </VirtualRows>
              </table>
            </Scroll>
          </Card>
        </>
      )}
    </div>
  )
}

const isGood = ({ revokedAt, expiresAt }: Token, now: number): boolean =>
  revokedAt === undefined && (expiresAt === undefined || Date.parse(expiresAt) > now)
