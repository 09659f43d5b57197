/** Every statement the adapter sends, by name. The functions they call live in `sql/`; this is their only caller. */
export interface Statements {
  readonly insertPlain: string
  readonly enqueue: string
  readonly claim: string
  readonly settle: string
  readonly missed: string
  readonly move: string
  readonly internKind: string
  readonly internQueues: string
  readonly kinds: string
  readonly clock: string
  readonly records: string
  readonly history: string
  readonly bodies: string
  readonly aliases: string
}

export const statementsIn = (schema: string): Statements => {
  const s = quoted(schema)
  return {
    insertPlain: `select ${s}.insert_plain($1, $2, $3, $4)`,
    enqueue: `select * from ${s}.enqueue($1)`,
    claim: `select * from ${s}.claim($1, $2, $3, $4, $5, $6, $7, $8)`,
    settle: `select * from ${s}.settle($1, $2, $3, $4, $5)`,
    missed: `select ${s}.missed($1, $2)`,
    move: `select * from ${s}.move($1, $2)`,
    internKind: `select * from ${s}.intern_kind($1, $2, $3, $4, $5, $6)`,
    internQueues: `select * from ${s}.intern_queues($1)`,
    kinds: `select * from ${s}.kinds_by_id($1)`,
    clock: `select ${s}.clock()`,
    records: `select * from ${s}.records($1)`,
    history: `select * from ${s}.history($1, $2, $3)`,
    bodies: `select * from ${s}.bodies($1)`,
    aliases: `select ${s}.aliases($1)`,
  }
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
