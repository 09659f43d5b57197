import { expect, it } from 'vitest'
import { changesIn, compared, uncompared } from '../../bench/report/changes.ts'
import { asText } from '../../bench/report/table.ts'
import { SCENARIOS } from '../../bench/scenarios.ts'
import { summaryOf } from './cells.ts'

const summary = summaryOf({
  'drain-1': {
    pawl: [{ perSecond: 80, serverUs: 10.4, nodeUs: 10.6, walBytes: 300, pages: 0 }],
    'pawl-before': [{ perSecond: 100, serverUs: 10, nodeUs: 10, walBytes: 400, pages: 0 }],
  },
  embedded: {
    'pawl-sqlite': [{ perSecond: 100, nodeUs: 5 }],
    'pawl-sqlite-before': [{ perSecond: 100, nodeUs: 5 }],
  },
  latency: { pawl: [{ p50: 2 }] },
})

it('a comparison judges what a job costs, and shows the rest', () => {
  const changes = changesIn(summary, SCENARIOS)
  expect(changes.map(({ scenario, figure, verdict }) => [scenario, figure, verdict])).toEqual([
    ['drain-1', 'perSecond', undefined],
    ['drain-1', 'serverUs', 'kept'],
    ['drain-1', 'nodeUs', 'dearer'],
    ['drain-1', 'walBytes', 'kept'],
    ['embedded', 'perSecond', undefined],
    ['embedded', 'nodeUs', 'kept'],
  ])
  const text = asText(compared(changes, 'abc'))
  expect(text).toMatch(/^ +abc +now/)
  expect(text).toMatch(/drain-1: perSecond +100 +80\.0 +-20\.0 %/)
  expect(text).toMatch(/drain-1: nodeUs +10\.0 +10\.6 +\+6\.0 % +dearer/)
})

it('a scenario that one of both has not made is named, and not taken for one that has stayed', () => {
  const asked = SCENARIOS.filter(({ name }) => ['drain-1', 'embedded', 'latency'].includes(name))
  expect(uncompared(summary, asked)).toEqual(['latency'])
})
