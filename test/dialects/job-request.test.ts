import { describe, expect, it } from 'vitest'
import { asRequested, requested, requestName } from '../../src/core/dialects/job-request.ts'
import { given } from '../core/given.ts'

describe('a JobRequest', () => {
  it('asks for a job under the name that its client chose', () => {
    expect(requested({ job_id: 'a', topic: 'job.chat', priority: 'critical', parent_job_id: 'b' })).toMatchObject({
      id: 'a',
      topic: 'job.chat',
      priority: 1,
      parentId: 'b',
    })
  })

  it('is told under that name, and so is what came of it', () => {
    const { record } = given({ dialect: '002' }, { alias: 'mine', topic: 'job.chat' })
    expect(requestName(record)).toBe('mine')
    expect(asRequested(record)).toMatchObject({ state: 'PENDING', JobRequest: { job_id: 'mine', topic: 'job.chat' } })
    expect(requestName(given().record)).toBe('pj_1')
  })
})
