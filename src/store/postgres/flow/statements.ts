/** The statements about flows and their keys. */
import { lanesAsked } from '../claim/lanes-asked.ts'

export interface FlowStatements {
  readonly internFlows: string
  readonly limitedOf: string
  /** As `claim`, where some of the lanes are limited; and the keys of what it was given. */
  readonly claimLimited: string
  readonly flowLook: string
  readonly flowApply: string
  readonly flowSweep: string
  /** As `settleLeases`, of jobs with slots. */
  readonly flowSettle: string
  /** As `move`, of jobs with flows. */
  readonly flowMove: string
  readonly flowSet: string
  readonly flowViews: string
  readonly flowLobby: string
  readonly flowWatch: string
  readonly flowMend: string
}

/** `s`: the schema's name, quoted. */
export const flowStatementsIn = (s: string): FlowStatements => ({
  internFlows: `select ${s}.intern_flows($1)`,
  limitedOf: `select ${s}.limited_of($1)`,
  claimLimited: `select c.*, case when coalesce(cardinality(c.ids), 0) < $8 and not c.is_repeat then ${s}.is_contended(l.lanes, c.now_ms) end,
      case when c.is_parked then ${s}.next_ready(l.lanes, c.now_ms) end, ${s}.flow_told(c.ids)
    from ${lanesAsked(s, '$14')} as l
    cross join lateral ${s}.claim_limited($1, $2, $3, $4, $5, l.lanes, $7, $8, $9, $10, $11, $12, $13) as c`,
  flowLook: `select ${s}.flow_look($1, $2, $3, $4, $5, $6)`,
  flowApply: `select * from ${s}.flow_apply($1)`,
  flowSweep: `select ${s}.flow_sweep($1)`,
  flowSettle: `select * from ${s}.flow_settle($1, $2, $3, $4, $5, $6, $7)`,
  flowMove: `select * from ${s}.flow_move($1, $2)`,
  flowSet: `select ${s}.flow_set($1)`,
  flowViews: `select ${s}.flow_views($1, $2, $3, $4, $5)`,
  flowLobby: `select ${s}.flow_lobby($1, $2, $3)`,
  flowWatch: `select ${s}.flow_watch($1)`,
  flowMend: `select ${s}.flow_mend($1, $2, $3, $4, $5, $6)`,
})
