/** Where a person sees a job: the address of a dashboard, as whoever runs this knows it, and the place of the job in it. */
import { withoutCredentials } from '../system/credentials.ts'

/** The address without a slash behind it. Throws where it is none that a browser could open. */
export function dashboardAt(url: string): string {
  const isWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
  if (isWeb && !/[?#\s]/.test(url)) return url.replace(/\/+$/, '')
  throw new TypeError(
    `dashboardUrl: ${JSON.stringify(withoutCredentials(url))} is not an address such as https://ops.example/jobs`,
  )
}

export const jobPlace = (id: string): string => `/jobs/${encodeURIComponent(id)}`

/** The link to a job, for those who tell of it; undefined where no dashboard is known. */
export const linksTo = (dashboardUrl: string | undefined): ((id: string) => string | undefined) => {
  if (dashboardUrl === undefined) return () => undefined
  const at = dashboardAt(dashboardUrl)
  return (id) => at + jobPlace(id)
}
