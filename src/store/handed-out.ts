/** How long whoever was handed a record by `due` may take before it is handed to somebody else (S8). */
export const HANDED_OUT_MS = 5_000
