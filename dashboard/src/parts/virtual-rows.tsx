/**
 * The rows of a table as its body. Of many only those around what is seen are in the page, with room above and below for the others:
 * the page scrolls as it would with all of them. Few are all there, where the browser's own search finds them.
 */
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { Fragment, type ReactNode, useLayoutEffect, useRef, useState } from 'react'

/** As many are no burden. */
const FEW = 30
const OVERSCAN = 6

export interface VirtualRowsProps<T> {
  readonly items: readonly T[]
  readonly keyOf: (item: T) => string
  /** About how high one is, until it was seen. */
  readonly rowPx?: number
  /** A `<tr>`. */
  readonly children: (item: T) => ReactNode
}

export function VirtualRows<T>(props: VirtualRowsProps<T>): ReactNode {
  const { items, keyOf, children } = props
  if (items.length > FEW) return <ManyRows {...props} />
  return (
    <tbody>
      {items.map((item) => (
        <Fragment key={keyOf(item)}>{children(item)}</Fragment>
      ))}
    </tbody>
  )
}

function ManyRows<T>({ items, keyOf, rowPx = 37, children }: VirtualRowsProps<T>): ReactNode {
  const body = useRef<HTMLTableSectionElement>(null)
  const [top, setTop] = useState(0)
  const virtual = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => rowPx,
    getItemKey: (index) => keyed(items[index], keyOf) ?? index,
    overscan: OVERSCAN,
    scrollMargin: top,
  })
  const shown = virtual.getVirtualItems()
  useLayoutEffect(() => {
    const place = body.current
    if (place === null) return
    setTop(Math.round(place.getBoundingClientRect().top + window.scrollY))
    place.closest('table')?.setAttribute('aria-rowcount', String(items.length + 1))
    // Between the two that are room the rows stand in their order, whatever they are made of.
    for (const [n, { index }] of shown.entries()) {
      const row = place.children[n + 1]
      if (row === undefined) continue
      row.setAttribute('data-index', String(index))
      row.setAttribute('aria-rowindex', String(index + 2))
      virtual.measureElement(row)
    }
  })
  const above = (shown[0]?.start ?? top) - top
  const below = virtual.getTotalSize() - ((shown.at(-1)?.end ?? top) - top)
  return (
    <tbody ref={body}>
      <Room px={above} />
      {shown.map(({ index, key }) => {
        const item = items[index]
        return item === undefined ? null : <Fragment key={key}>{children(item)}</Fragment>
      })}
      <Room px={below} />
    </tbody>
  )
}

const keyed = <T,>(item: T | undefined, keyOf: (item: T) => string): string | undefined =>
  item === undefined ? undefined : keyOf(item)

function Room({ px }: { readonly px: number }): ReactNode {
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row of nothing never has the focus
    <tr aria-hidden="true" style={{ height: Math.max(0, px), border: 0 }}>
      <td colSpan={99} style={{ padding: 0, border: 0, height: 0 }} />
    </tr>
  )
}
