/** Where this code lies, as stacks name it. In a bundle it lies where the user's own code does, or nobody knows, and nothing can be told apart. */
const HERE = URL.canParse('.', import.meta.url) ? new URL('.', import.meta.url).pathname : ''
const OWN = HERE.endsWith('/worker/') ? HERE : ''
const FRAME = '\n    at '
const INSIDE_NODE = /\(?node:internal\/[^\n]*$/

/**
 * A stack without the frames of the worker that called the handler, nor those of Node beneath it: of ten frames they were eight, which
 * told a reader nothing and were kept with every failure. An error that is thrown by the worker itself has no others, and keeps them.
 */
export function withoutOwnFrames(stack: string, own: string = OWN): string {
  if (own === '' || !stack.includes(own)) return stack
  const [head = '', ...frames] = stack.split(FRAME)
  const others = frames.filter((frame) => !frame.includes(own))
  while (INSIDE_NODE.test(others.at(-1) ?? '')) others.pop()
  return others.length === 0 ? stack : [head, ...others].join(FRAME)
}
