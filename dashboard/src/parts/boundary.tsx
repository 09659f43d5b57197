/** Where a screen breaks, the rest stays: what happened is said, and how to go on. */
import { Component, type ReactNode } from 'react'
import { useLocation } from 'wouter'

/** Another place is another try. */
export function Boundary({ children }: { readonly children: ReactNode }): ReactNode {
  const [path] = useLocation()
  return <Caught path={path}>{children}</Caught>
}

interface Broken {
  readonly error: unknown
}

interface CaughtProps {
  readonly path: string
  readonly children: ReactNode
}

class Caught extends Component<CaughtProps, Broken> {
  override state: Broken = { error: undefined }

  static getDerivedStateFromError(error: unknown): Broken {
    return { error }
  }

  override componentDidUpdate({ path }: CaughtProps): void {
    if (path !== this.props.path && this.state.error !== undefined) this.setState({ error: undefined })
  }

  override render(): ReactNode {
    const { error } = this.state
    return error === undefined ? (
      this.props.children
    ) : (
      <BrokenScreen error={error} onAgain={() => this.setState({ error: undefined })} />
    )
  }
}

/** As browsers say that a part of the page could not be loaded. */
const UNLOADED = /dynamically imported module|module script|Failed to fetch/i

function BrokenScreen({ error, onAgain }: { readonly error: unknown; readonly onAgain: () => void }): ReactNode {
  const message = error instanceof Error ? error.message : String(error)
  return (
    <div role="alert" className="card m-4 flex flex-col gap-3 border-bad p-4">
      <p className="font-medium text-bad">This screen broke; the others still work</p>
      <p>
        {UNLOADED.test(message)
          ? 'A part of it could not be loaded: the gateway is away, or another version of it runs since you opened this page. Reload it.'
          : 'What it was to show is something it did not expect. No job is touched by that. Reload; if it breaks again, report the line below.'}
      </p>
      <p className="mono break-words text-text-2">{message}</p>
      <div className="flex gap-2">
        <button type="button" className="btn btn-ink" onClick={() => location.reload()}>
          Reload
        </button>
        <button type="button" className="btn" onClick={onAgain}>
          Try again
        </button>
      </div>
    </div>
  )
}
