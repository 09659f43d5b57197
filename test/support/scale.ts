/** True for `npm run soak`: the full numbers, however long they take. */
export const soaking = process.env['PAWL_SOAK'] === '1'

/** How many: the gate runs a share that fits its minutes, the soak runs what was promised. */
export function scaled(gate: number, soak: number): number {
  return soaking ? soak : gate
}
