/** How many of each thing that keeps a process alive: sockets, timers, threads. */
export type Resources = Readonly<Record<string, number>>

export function resources(): Resources {
  const counts: Record<string, number> = {}
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1
  return counts
}
