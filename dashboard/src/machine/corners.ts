/** Lines as they are drawn here: straight, with round corners. */
export interface Point {
  readonly x: number
  readonly y: number
}

export function path(points: readonly Point[], corner: number): string {
  const [first] = points as readonly [Point, ...Point[]]
  let d = `M${first.x} ${first.y}`
  for (let n = 1; n < points.length; n += 1) {
    const [before, here, next] = [points[n - 1], points[n], points[n + 1]] as [Point, Point, Point | undefined]
    if (next === undefined) return `${d}L${here.x} ${here.y}`
    const radius = Math.min(corner, length(before, here) / 2, length(here, next) / 2)
    const begin = towards(here, before, radius)
    const end = towards(here, next, radius)
    d += `L${begin.x} ${begin.y}Q${here.x} ${here.y} ${end.x} ${end.y}`
  }
  return d
}

/** Where there is most room on it for a mark: the middle of its longest straight part, and how long that is. */
export function middle(d: string): Point & { readonly length: number } {
  const points = [...d.matchAll(/(-?[\d.]+) (-?[\d.]+)/g)].map(([, x, y]) => ({ x: Number(x), y: Number(y) }))
  let best: readonly [Point, Point] | undefined
  for (const [n, to] of points.entries()) {
    const from = points[n - 1]
    if (from !== undefined && (best === undefined || length(from, to) > length(...best))) best = [from, to]
  }
  const [from, to] = best ?? [points[0] ?? { x: 0, y: 0 }, points[0] ?? { x: 0, y: 0 }]
  return { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2, length: length(from, to) }
}

const length = (a: Point, b: Point): number => Math.abs(a.x - b.x) + Math.abs(a.y - b.y)

const towards = (from: Point, to: Point, by: number): Point => ({
  x: from.x + Math.sign(to.x - from.x) * by,
  y: from.y + Math.sign(to.y - from.y) * by,
})
