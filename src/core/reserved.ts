/** Names that begin so are pawl's own: nobody enqueues into such a queue, is sent to it, or claims from it, but through `operations`. */
const RESERVED = 'pawl.'
export const isReserved = (name: string): boolean => name.startsWith(RESERVED)
export const RESERVED_RULE = `must not begin with ${RESERVED}: those names are pawl’s own`
