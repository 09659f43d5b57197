/**
 * Where the page is, for the router, which takes the escapes out of an address once before it looks for a place in it, and out of a
 * query before that is read: a `%` in a name would be taken for the beginning of another escape. So each is escaped once more here.
 */
import {
  type BrowserLocationHook,
  type BrowserSearchHook,
  useBrowserLocation,
  useSearch,
} from 'wouter/use-browser-location'

const escaped = (text: string): string => text.replaceAll('%25', '%2525')

export const useAddress: BrowserLocationHook = (options) => {
  const [path, go] = useBrowserLocation(options)
  return [escaped(path), go]
}

export const useAddressQuery: BrowserSearchHook = (options) => escaped(useSearch(options))

/** A name that stands in a path; what was mistyped is taken as it stands. */
export function nameIn(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
