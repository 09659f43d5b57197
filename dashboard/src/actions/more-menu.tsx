/** What else one may want of a job, besides moving it. */
import { Menu } from '@base-ui/react/menu'
import type { ReactNode } from 'react'
import { useLocation } from 'wouter'
import { BASE } from '../api/http.ts'
import { useSession } from '../api/session.tsx'
import type { Job } from '../api/wire.ts'
import { useKeys } from '../frame/keys.ts'
import { Icon } from '../parts/icon.tsx'
import { useSay } from '../parts/toasts.tsx'

export function MoreMenu({ job }: { readonly job: Job }): ReactNode {
  const session = useSession()
  const [, go] = useLocation()
  const say = useSay()
  const copy = (text: string, what: string) =>
    navigator.clipboard.writeText(text).then(
      () => say(`${what} is copied.`),
      () => say('The browser does not let this page copy.', true),
    )
  useKeys({ y: () => void copy(job.id, 'The id') })
  const id = encodeURIComponent(job.id)
  const item = (text: string, act: () => void) => (
    <Menu.Item
      className="flex h-8 cursor-pointer items-center rounded-md px-3 outline-none data-highlighted:bg-hover"
      onClick={act}
    >
      {text}
    </Menu.Item>
  )
  return (
    <Menu.Root>
      <Menu.Trigger className="btn" aria-label="More">
        <Icon name="more" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} align="end" className="z-50">
          <Menu.Popup className="floats p-1 outline-none">
            {session.can('createJob')
              ? item('Edit and enqueue as new…', () => go(`/new?type=${encodeURIComponent(job.type)}&from=${id}`))
              : null}
            {item('Copy the id', () => void copy(job.id, 'The id'))}
            {item('Copy as CLI', () => void copy(cliOf(job), 'The command'))}
            {item('Copy as curl', () => void copy(curlOf(job), 'The request'))}
            {item('Open in tail', () => go(`/tail?q=${id}`))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}

const at = (): string => location.origin + BASE

const cliOf = ({ id }: Job): string => `pawl jobs show ${id} --url ${at()}`

const curlOf = ({ id }: Job): string =>
  `curl -H "Authorization: Bearer $PAWL_TOKEN" ${at()}/v1/jobs/${encodeURIComponent(id)}`
