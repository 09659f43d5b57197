/** What becomes of what a store has answered when its server dies, where that is for the server's settings to say. */
export interface Durability {
  /**
   * `kept`: what was answered is on the disk. `seconds`: a crash loses the last second or two. `snapshots`: it loses what came after the
   * last snapshot. `none`: it loses everything. `unknown`: the server does not tell.
   */
  readonly level: 'kept' | 'seconds' | 'snapshots' | 'none' | 'unknown'
  /** In words, for people. */
  readonly promise: string
}
