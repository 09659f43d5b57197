/** An entry of the log: what one call has written, in groups of jobs to which the same happened at once. */
export interface Group {
  /** Letter of the event's type. */
  readonly type: string
  readonly rev: number
  /** Number of the kind. */
  readonly kind: string
  readonly at: number
  /** Digits of ids. */
  readonly ids: readonly string[]
}

export const groupsIn = (text: string): readonly Group[] =>
  text === ''
    ? []
    : text.split(';').map((group) => {
        const [type = '', rev, kind = '', at, ids = ''] = group.split(' ')
        return { type, rev: Number(rev), kind, at: Number(at), ids: ids.split(',') }
      })
