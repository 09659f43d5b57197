/** Why a server cannot be asked, in words: what was tried where, and what to do. Never the address's password. */

export interface Trouble {
  readonly message: string
  readonly next: string
}

/** Undefined: it is not about reaching or entering a server. */
export function troubleOf(error: unknown): Trouble | undefined {
  for (const each of causesOf(error)) {
    const explain = EXPLANATIONS[codeOf(each)]
    if (explain !== undefined) return explain(each)
  }
  return undefined
}

/** What a network or Postgres says beside its code. */
interface Coded {
  readonly code?: string
  readonly message: string
  readonly address?: string
  readonly port?: number
  readonly hostname?: string
}

const LEAD = '--url (or PAWL_URL)'

const silent = ({ message }: Coded): Trouble => ({
  message: `Nobody answers: ${message}.`,
  next: `See that the server runs and that no firewall is in between, and where ${LEAD} leads.`,
})
const unknownHost = ({ hostname, message }: Coded): Trouble => ({
  message: `There is no host ${hostname ?? `(${message})`}.`,
  next: `Correct the address that ${LEAD} names.`,
})
const notLetIn = ({ message }: Coded): Trouble => ({
  message: `Postgres does not let us in: ${message}.`,
  next: `Correct user and password in ${LEAD}; pg_hba.conf says who may.`,
})

/** By the code of a system call, or Postgres' own. */
const EXPLANATIONS: Readonly<Record<string, (error: Coded) => Trouble>> = {
  ECONNREFUSED: ({ address, port, message }) => ({
    message: `Nothing listens at ${address === undefined ? message : `${address}:${port}`} (ECONNREFUSED).`,
    next: `Start the server there, or lead ${LEAD} to where it runs.`,
  }),
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
  ETIMEDOUT: silent,
  EHOSTUNREACH: silent,
  ENETUNREACH: silent,
  ECONNRESET: silent,
  '28P01': notLetIn,
  '28000': notLetIn,
  '3D000': ({ message }) => ({
    message: `Postgres has no such database: ${message}.`,
    next: `Create it (createdb), or name another in ${LEAD}.`,
  }),
  '57P03': ({ message }) => ({
    message: `Postgres is not ready: ${message}.`,
    next: 'Try again in a moment: it is starting or stopping.',
  }),
}

/** An error, what it holds together (both addresses of a host), what it came from; the nearest first. */
function* causesOf(error: unknown): Generator<Coded> {
  for (let each = error; each instanceof Error; each = each.cause) {
    yield each
    if (each instanceof AggregateError) for (const part of each.errors) if (part instanceof Error) yield part
  }
}

const codeOf = ({ code }: Coded): string => code ?? ''
