/** What a job is about, in one phrase: the gateway's words, with its moments as they pass. */
import type { ReactNode } from 'react'
import type { NowAnswer } from '../api/wire.ts'
import { span } from '../words/format.ts'
import { Moment } from './moment.tsx'

export function Phrase({ now }: { readonly now: NowAnswer | undefined }): ReactNode {
  if (now === undefined) return null
  const { before, when, after, tookMs } = now
  const pieces: ReactNode[] = []
  if (before !== '') pieces.push(before)
  if (when !== undefined) pieces.push(<Moment key="when" at={when} />)
  if (tookMs !== undefined) pieces.push(`in ${span(tookMs)}`)
  return (
    <>
      {pieces.map((piece, n) => [n > 0 ? ' ' : '', piece])}
      {after === undefined ? '' : `${pieces.length > 0 ? ', ' : ''}${after}`}
    </>
  )
}
