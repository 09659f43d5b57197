/** The route table as OpenAPI 3.1. Pure: the same table gives the same document. */
import { REFUSALS } from '../../core/refusal.ts'
import { described } from './collections.ts'
import type { Route } from './route.ts'
import { ROUTES } from './routes.ts'

export interface OpenApi {
  readonly openapi: '3.1.0'
  readonly info: Readonly<Record<string, string>>
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly components: Readonly<Record<string, unknown>>
  readonly security: readonly unknown[]
}

/** `basePath` is where the gateway is mounted. */
export function openApi(basePath = ''): OpenApi {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of ROUTES) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'pawl', version: '1', summary: 'Durable jobs: enqueue, claim, settle, watch.' },
    ...(basePath !== '' && { servers: [{ url: basePath }] }),
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Problem: PROBLEM },
    },
    security: [{ token: [] }],
  }
}

function operation(route: Route): Readonly<Record<string, unknown>> {
  const body =
    route.body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: described(route.body) } } } }
  return {
    operationId: route.name,
    summary: route.summary,
    parameters: [...pathParameters(route), ...queryParameters(route)],
    ...body,
    responses: { ...answers(route), default: PROBLEM_ANSWER },
    ...(route.scopes === 'open' ? { security: [] } : { 'x-scopes': route.scopes }),
  }
}

const pathParameters = ({ path }: Route): readonly unknown[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map((match) => ({
    name: match[1],
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))

function queryParameters({ query }: Route): readonly unknown[] {
  const schema = described(query) as { properties?: Record<string, unknown>; required?: readonly string[] }
  return Object.entries(schema.properties ?? {}).map(([name, value]) => ({
    name,
    in: 'query',
    required: schema.required?.includes(name) ?? false,
    schema: value,
  }))
}

const answers = (route: Route): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(route.answers).map(([status, description]) => [
      status,
      { description, content: { [contentType(route)]: { schema: {} } } },
    ]),
  )

const contentType = ({ name }: Route): string => FORMS[name] ?? 'application/json'

/** Media types of answers that are not JSON, by operation. */
const FORMS: Readonly<Record<string, string>> = {
  metrics: 'text/plain',
  streamEvents: 'text/event-stream',
  streamHints: 'text/event-stream',
  showIndex: 'text/html',
  showErrors: 'text/html',
}

const PROBLEM_ANSWER = {
  description: 'What went wrong, why, and what to do next',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
}

const PROBLEM = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'next'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', examples: Object.keys(REFUSALS) },
    next: { type: 'string', description: 'What to do' },
    jobId: { type: 'string' },
    state: { type: 'string' },
    command: { type: 'string' },
    rev: { type: 'integer' },
    owner: { type: 'string' },
    leaseExpiresAt: { type: 'string', format: 'date-time' },
    holder: { type: 'string' },
    violations: {
      type: 'array',
      items: { type: 'object', properties: { field: { type: 'string' }, rule: { type: 'string' } } },
    },
  },
}
