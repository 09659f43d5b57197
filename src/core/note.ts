/** What a handler tells of its own work, for replay, trace and verification: plans, nodes of a graph, tools it calls. */
export const NOTE_KINDS = [
  'plan_generated',
  'node_started',
  'node_finished',
  'node_failed',
  'tool_invocation_started',
  'tool_invocation_finished',
  'tool_invocation_failed',
] as const
export type NoteKind = (typeof NOTE_KINDS)[number]

export interface Note {
  readonly kind: NoteKind
  /** Which plan, node or tool. */
  readonly name: string
}
