import { quoted } from '../connection/statements.ts'

/** Every statement that a ledger is asked. What reads answers with the account beside each row, and alone where there is none: one statement is one moment. */
export interface LedgerStatements {
  readonly account: string
  readonly append: string
  readonly fence: string
  readonly logAfter: string
  readonly unfolded: string
  readonly namedAfter: string
  readonly fold: string
  readonly imageOf: string
  readonly ended: string
  readonly entriesAfter: string
  readonly sizes: string
  readonly rows: string
  readonly imageAfter: string
}

export function ledgerStatementsIn(schema: string): LedgerStatements {
  const s = quoted(schema)
  return {
    account: `select a.* from ${s}.account($1) as a`,
    append: `select * from ${s}.append($1, $2, $3, $4, $5, $6, $7)`,
    fence: `select * from ${s}.fence($1, $2)`,
    logAfter: `select a.*, l.* from ${s}.account($1) as a left join ${s}.log_after($1, $2, $3, $4) as l on true order by l.first`,
    unfolded: `select a.*, l.* from ${s}.account($1) as a left join lateral ${s}.log_after($1, a.folded, $2, $3) as l on true order by l.first`,
    namedAfter: `select a.*, n.* from ${s}.account($1) as a left join ${s}.named_after($1, $2, $3) as n on true`,
    fold: `select * from ${s}.fold($1, $2, $3, $4, $5, $6)`,
    imageOf: `select a.*, i.* from ${s}.account($1) as a left join ${s}.image_of($1, $2) as i on true`,
    ended: `select * from ${s}.ended($1, $2, $3)`,
    entriesAfter: `select l.* from ${s}.log_after($1, $2, $3, $4) as l order by l.first`,
    sizes: `select * from ${s}.sizes($1, $2)`,
    rows: `select * from ${s}.rows($1, $2, $3)`,
    imageAfter: `select a.*, i.* from ${s}.account($1) as a left join ${s}.image_after($1, $2, $3, $4, $5, $6, $7) as i on true`,
  }
}
