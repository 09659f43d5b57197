/** Pages for people who come with a browser, or follow the `type` of a problem. The same for all, so each is made once. */
import { REFUSALS } from '../../core/refusal.ts'
import type { Call, Handler, Reply } from '../call.ts'
import type { Route } from '../contract/route.ts'
import { ROUTES } from '../contract/routes.ts'
import { OBJECTIONS } from '../problem.ts'

export const showIndex: Handler = async (call) => inForm(call, INDEX)

export const showErrors: Handler = async (call) => inForm(call, ERRORS)

interface Page {
  readonly title: string
  readonly lead: string
  /** An entry has a place of its own to link to. */
  readonly entries: readonly { readonly anchor?: string; readonly term: string; readonly text: string }[]
}

const who = ({ scopes }: Route): string => (scopes === 'open' ? 'everybody' : scopes.join(', '))

const INDEX: Page = {
  title: 'pawl',
  lead: 'This is the gateway of a pawl job engine. Everything below /v1 wants “Authorization: Bearer <token>”; pawl token create makes one. /openapi.json describes every request, /docs/errors what is refused and why.',
  entries: ROUTES.map((route) => ({
    term: `${route.method} ${route.path}`,
    text: `${route.summary} (${who(route)})`,
  })),
}

const ERRORS: Page = {
  title: 'pawl: what is refused, and why',
  lead: 'Every refusal is application/problem+json with a code, what happened and what to do next. A refusal changes nothing.',
  entries: [
    ...Object.entries(REFUSALS).map(([code, { title, why, next }]) => entry(code, `${title}. ${why} Next: ${next}`)),
    ...Object.entries(OBJECTIONS).map(([code, { status, title, next }]) =>
      entry(code, `${title} (${status}). Next: ${next}`),
    ),
  ],
}

/** The page that a problem's `type` points to. */
function entry(code: string, text: string): Page['entries'][number] {
  return { anchor: code.toLowerCase(), term: code, text }
}

function inForm({ headers }: Call, page: Page): Reply {
  return headers.get('accept')?.includes('text/html') === true
    ? { status: 200, type: 'text/html; charset=utf-8', body: htmlOf(page) }
    : { status: 200, type: 'text/plain; charset=utf-8', body: textOf(page) }
}

const textOf = ({ title, lead, entries }: Page): string =>
  [title, '', lead, '', ...entries.map(({ term, text }) => `${term.padEnd(WIDTH)} ${text}`), ''].join('\n')

const WIDTH = 36

const htmlOf = ({ title, lead, entries }: Page): string =>
  `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<h1>${escaped(title)}</h1>
<p>${escaped(lead)}</p>
<dl>
${entries.map(({ anchor, term, text }) => `<dt${anchor === undefined ? '' : ` id="${anchor}"`}><code>${escaped(term)}</code></dt>\n<dd>${escaped(text)}</dd>`).join('\n')}
</dl>
</html>
`

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
