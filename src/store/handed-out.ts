/** How long a ticker that was handed a record by `due` may take before another is handed it (S8). */
export const HANDED_OUT_MS = 5_000
