/** Every place of a request where there can be many of something, found in the schemas of its route. */
import { described } from '../../src/gateway/contract/collections.ts'
import type { Route } from '../../src/gateway/contract/route.ts'
import { WORDS, type WordName } from '../../src/gateway/contract/schemas.ts'
import { goodBody } from './good-bodies.ts'
import type { Schema } from './largest.ts'

export interface Place {
  readonly route: Route
  readonly in: 'body' | 'query'
  /** For people: `createJob body.labels: entries`. */
  readonly name: string
  /** As many as may be there; undefined where the schema does not say. */
  readonly most: number | undefined
  /** The request with `n` of them: a body's text, or a query. */
  request(n: number): string
}

type Made = (n: number) => string
interface Spot {
  readonly name: string
  readonly most: number | undefined
  readonly value: Made
}

export function placesOf(route: Route): readonly Place[] {
  const inBody = route.body === undefined ? [] : bodySpots(route)
  const inQuery = Object.entries((described(route.query) as Schema).properties ?? {}).flatMap(([name]) =>
    queryTexts.map(({ what, make }) => ({
      name: `${name}: ${what}`,
      most: undefined,
      value: (n: number) => `${name}=${make(n)}`,
    })),
  )
  const many: Spot = {
    name: 'parameters',
    most: undefined,
    value: (n) => Array.from({ length: n }, (_, i) => `x${i}=1`).join('&'),
  }
  const same: Spot = {
    name: 'parameters of one name',
    most: undefined,
    value: (n) => new Array(n).fill('label=a%3Db').join('&'),
  }
  const placed =
    (where: Place['in']) =>
    (spot: Spot): Place => ({
      route,
      in: where,
      name: `${route.name} ${where}.${spot.name}`,
      most: spot.most,
      request: spot.value,
    })
  return [...inBody.map(placed('body')), ...[...inQuery, many, same].map(placed('query'))]
}

function bodySpots(route: Route): readonly Spot[] {
  const good = goodBody(route)
  const spots = spotsIn(described(route.body as never) as Schema, good)
  if (route.name !== 'settle') return spots
  const words = (Object.keys(WORDS) as WordName[]).flatMap((command) => {
    const said = { id: 'none', command, ...goodBody({ name: `${command}Job` } as Route) }
    return spotsIn(described(WORDS[command]) as Schema, said).map((spot) => ({
      ...spot,
      name: `transitions.0(${command}).${spot.name}`,
      value: (n: number) => `{"transitions":[${spot.value(n)}]}`,
    }))
  })
  return [...spots, ...words]
}

/** Inside of `schema`, whose value is `around` but for the one place. */
function spotsIn(schema: Schema, around: unknown): readonly Spot[] {
  const found: Spot[] = []
  for (const inner of schema.anyOf ?? []) found.push(...spotsIn(inner, around))
  if (schema.properties !== undefined) {
    const members = { ...(around as object) } as Record<string, unknown>
    const withMember = (name: string, text: string) =>
      `{${[
        ...Object.entries(members)
          .filter(([other]) => other !== name)
          .map(([other, value]) => `${JSON.stringify(other)}:${JSON.stringify(value)}`),
        `${JSON.stringify(name)}:${text}`,
      ].join(',')}}`
    found.push({
      name: 'unknown members',
      most: undefined,
      value: (n) =>
        `{${[...Object.entries(members).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`), entries(n, '1')].join(',')}}`,
    })
    for (const [name, inner] of Object.entries(schema.properties)) {
      for (const spot of spotsIn(inner, members[name]))
        found.push({ ...spot, name: `${name}.${spot.name}`, value: (n) => withMember(name, spot.value(n)) })
    }
  }
  if (typeof schema.additionalProperties === 'object') {
    for (const junk of ['"x"', '1', 'null'])
      found.push({ name: `entries of ${junk}`, most: schema.maxProperties, value: (n) => `{${entries(n, junk)}}` })
  }
  if (schema.type === 'array') {
    const elements = ['null', '"x"', '{}', ...(Array.isArray(around) ? [JSON.stringify(around[0])] : [])]
    for (const element of elements)
      found.push({
        name: `elements ${element.slice(0, 40)}`,
        most: schema.maxItems,
        value: (n) => `[${new Array(n).fill(element).join(',')}]`,
      })
    const first = Array.isArray(around) ? around[0] : undefined
    for (const spot of spotsIn(schema.items ?? {}, first))
      found.push({ ...spot, name: `0.${spot.name}`, value: (n) => `[${spot.value(n)}]` })
  }
  if (schema.type === 'string')
    found.push({ name: 'letters', most: schema.maxLength, value: (n) => `"${'x'.repeat(n)}"` })
  if (isAnything(schema))
    found.push(
      { name: 'anything: members', most: undefined, value: (n) => `{${entries(n, '{}')}}` },
      { name: 'anything: elements', most: undefined, value: (n) => `[${new Array(n).fill('[]').join(',')}]` },
    )
  return found
}

const isAnything = ({ type, anyOf, properties, enum: words, const: word }: Schema): boolean =>
  type === undefined && anyOf === undefined && properties === undefined && words === undefined && word === undefined

const entries = (n: number, value: string): string => Array.from({ length: n }, (_, i) => `"k${i}":${value}`).join(',')

const queryTexts = [
  { what: 'letters', make: (n: number) => 'x'.repeat(n) },
  { what: 'words', make: (n: number) => new Array(n).fill('x').join(',') },
] as const
