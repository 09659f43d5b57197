import { readFileSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { nodeTooOld } from '../../src/system/node-version.ts'
import pins from '../support/embedded-postgres.json' with { type: 'json' }

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Gate>>
}

interface Gate {
  readonly strategy: {
    readonly matrix: {
      readonly node: readonly number[]
      readonly postgres: readonly number[]
      readonly include: readonly { readonly node: number; readonly postgres: number }[]
    }
  }
  readonly env: Readonly<Record<string, string>>
  readonly steps: readonly { readonly uses?: string; readonly run?: string; readonly with?: Record<string, unknown> }[]
}

const text = readFileSync('.github/workflows/ci.yml', 'utf8')
const { on, permissions, jobs } = parse(text) as Workflow
const gate = jobs['gate'] as Gate
const { node, postgres, include } = gate.strategy.matrix
const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly engines: { readonly node: string } }

const sorted = (numbers: readonly number[]): readonly number[] => [...new Set(numbers)].sort((a, b) => a - b)

describe('the workflow', () => {
  it('runs the gate that everybody runs, for whatever is pushed or proposed', () => {
    expect(Object.keys(on)).toEqual(['push', 'pull_request'])
    expect(Object.keys(jobs)).toEqual(['gate'])
    expect(gate.steps.at(-1)).toEqual({ run: '.ci/run' })
    expect(statSync('.ci/run').mode & 0o111).not.toBe(0)
    expect(readFileSync('.ci/run', 'utf8')).toMatch(/^exec npm test$/m)
  })

  it('on each major version of Node that package.json supports', () => {
    const supported = engines.node.split('||').map((range) => Number(/\d+/.exec(range)?.[0]))
    expect(supported.length).toBeGreaterThan(1)
    expect(sorted([...node, ...include.map((each) => each.node)])).toEqual(sorted(supported))
    for (const major of supported) expect(nodeTooOld(`${major}.99.0`)).toBeUndefined()
    const setup = gate.steps.find(({ uses }) => uses?.startsWith('actions/setup-node@'))
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the workflow's own
    expect(setup?.with?.['node-version']).toBe('${{ matrix.node }}')
  })

  it('on each major version of Postgres that the tests can start', () => {
    expect(sorted([...postgres, ...include.map((each) => each.postgres)])).toEqual(Object.keys(pins).map(Number))
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the workflow's own
    expect(gate.env['PAWL_TEST_POSTGRES_MAJOR']).toBe('${{ matrix.postgres }}')
    const [oldest] = postgres
    expect(readFileSync('README.md', 'utf8')).toContain(`needs Postgres ${oldest} or newer`)
  })

  it('with actions that nobody can exchange, and without rights of its own', () => {
    const used = [...text.matchAll(/uses: (.*)/g)].map(([, what]) => what)
    expect(used.length).toBe(gate.steps.filter(({ uses }) => uses !== undefined).length)
    for (const what of used) expect(what).toMatch(/^actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
    expect(permissions).toEqual({ contents: 'read' })
  })
})
