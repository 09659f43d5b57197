/** Whether this is Bun, which has Node's modules with other machinery behind them. */
export const isBun: boolean = process.versions['bun'] !== undefined
