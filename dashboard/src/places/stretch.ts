/** Which part of the window the charts show: drawn on one of them, and the same in all. Undefined: all of it. */
import { createContext, useContext } from 'react'

export interface Stretch {
  /** In seconds, as the charts count. */
  readonly from: number
  readonly to: number
}

export interface Zoom {
  readonly stretch: Stretch | undefined
  readonly look: (stretch: Stretch | undefined) => void
}

const NONE: Zoom = { stretch: undefined, look: () => undefined }

export const ZoomContext = createContext<Zoom>(NONE)

export const useZoom = (): Zoom => useContext(ZoomContext)
