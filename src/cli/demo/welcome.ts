/** What the demo says once it runs. Every indented line can be typed as it stands: a test does. */
import type { JobId } from '../../core/job.ts'
import { DEFAULT_PORT } from '../listening.ts'
import type { Terminal } from '../terminal.ts'

export interface Welcome {
  readonly url: string
  readonly secret: string
  /** Opens the dashboard, signed in. */
  readonly link: string
  readonly store: string
  /** The store is the demo's own, and cleared by `--reset`. */
  readonly isOwn: boolean
  /** Where its rules are; undefined where the store is not the demo's own. */
  readonly policy: string | undefined
  /** The usual port is somebody else's. */
  readonly elsewhere: boolean
  /** Waits for whoever reads this. */
  readonly refund: JobId
}

const TYPES = [
  'greet works, fetch.page fails twice first, charge.card ends as a dead letter, parse.mail fails for good,',
  'refund waits for a signal, pay.out and send.campaign for what a policy and people decide, ask.partner until its time is over,',
  'book.trip undoes its steps where there is no car, render.film takes twenty seconds and says how far it is,',
  'crawl.site runs in a worker that is killed now and then, fetch.price shares its shop with others and is held while',
  'that pushes back, summarise spends tokens of which there are so many a minute, tidy.up comes by the clock.',
]

export function welcome(terminal: Terminal, welcome: Welcome): void {
  const { url, secret, link, store, isOwn, policy, elsewhere, refund } = welcome
  const { paint } = terminal
  const authorization = `-H 'Authorization: Bearer ${secret}'`
  const job = `'{"type":"greet","queue":"demo","input":{"name":"curl"}}'`
  const lines = [
    `pawl serves ${store} at ${paint.bold(url)}, and workers run jobs of fourteen types:`,
    ...TYPES.map((line) => paint.dim(line)),
    ...(policy === undefined ? [] : [paint.dim(`Its rules are in ${policy}: change them while it runs.`)]),
    ...(elsewhere
      ? [
          paint.yellow(
            `Port ${DEFAULT_PORT} is taken: if that is another demo of this folder, both work on the same jobs.`,
          ),
        ]
      : []),
    '',
    paint.bold('Open the dashboard, signed in (this link works once):'),
    link,
    '',
    `Demo token (admin, good until this stops): ${paint.bold(secret)}`,
    '',
    paint.bold('Try, in another terminal:'),
    ...aliasLine(),
    `  export PAWL_URL=${url} PAWL_TOKEN=${secret}`,
    `  pawl top`,
    `  pawl tail`,
    `  pawl jobs ls --state parked,waiting,retrying`,
    `  pawl enqueue greet --queue demo -p name=you --wait`,
    `  pawl explain ${refund}`,
    `  pawl jobs signal ${refund} approved -p by=me`,
    `  pawl jobs events ${refund}`,
    `  pawl dlq ls`,
    `  pawl dlq redrive --dry-run`,
    '',
    paint.bold('Or with nothing but curl:'),
    `  curl -s ${authorization} ${url}/v1/queues`,
    `  curl -s ${authorization} -H 'Content-Type: application/json' -d ${job} ${url}/v1/jobs`,
    `  curl -sN ${authorization} -H 'Accept: text/event-stream' ${url}/v1/events`,
    '',
    paint.dim('examples/worker.py and examples/worker.sh are workers in Python and bash.'),
    paint.dim(
      isOwn
        ? 'Ctrl-C stops everything; the jobs stay, and --reset clears them (npm start -- --reset).'
        : 'Ctrl-C stops everything; the jobs stay.',
    ),
  ]
  for (const line of lines) terminal.say(line)
}

/** From a checkout nobody has `pawl` on the path, and perhaps an older Node: both are given a name. */
function aliasLine(): readonly string[] {
  const script = process.argv[1] ?? ''
  return script.endsWith('.ts') ? [`  alias pawl=${quoted(`${quoted(process.execPath)} ${quoted(script)}`)}`] : []
}

/** As one word of a shell. */
const quoted = (text: string): string =>
  /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
