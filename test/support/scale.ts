/** True for `npm run soak`: the full numbers, however long they take. */
export const soaking = process.env['PAWL_SOAK'] === '1'

/**
 * True where nothing else runs: only there does the time that something takes say anything about it. `npm run soak` has a
 * part for the files that ask, one after the other; anywhere else they judge everything but that.
 */
export const byTheClock = process.env['PAWL_BY_THE_CLOCK'] === '1'

/** How many: the gate runs a share that fits its minutes, the soak runs what was promised. */
export function scaled(gate: number, soak: number): number {
  return soaking ? soak : gate
}
