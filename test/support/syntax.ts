import { parseSync } from 'vite'

export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}

export function program(path: string, text: string): unknown {
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path} cannot be read: ${JSON.stringify(errors[0])}`)
  return program
}

/** Every node but types, which are erased where the program runs, outer ones first. */
export function walk(value: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(value)) {
    for (const each of value) walk(each, visit)
    return
  }
  if (typeof value !== 'object' || value === null) return
  if (isNode(value)) {
    if (isType(value)) return
    visit(value)
  }
  for (const each of Object.values(value)) walk(each, visit)
}

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

export const isText = (node: Node): node is Node & { readonly value: string } =>
  node.type === 'Literal' && 'value' in node && typeof node.value === 'string'

const isType = ({ type }: Node): boolean => /^TS(Type|Literal|Interface|Union|Indexed|Mapped)/.test(type)

export const isFunction = ({ type }: Node): boolean => /Function/.test(type)

export const linesIn = (text: string): number => text.split('\n').length - 1
