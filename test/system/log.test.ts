import { describe, expect, it } from 'vitest'
import { linesTo, logLine } from '../../src/system/log.ts'

describe('a log line', () => {
  it('is one line of JSON, whatever a field holds', () => {
    const nasty = 'a\nb\r\n\u2028c\u2029"\u0000\u001b[31m\u009b\u202e\u2066\u200b\u{e0041}\ud800'
    const line = logLine('info', nasty, { job_id: nasty, attempt: 2, nothing: undefined }, 0)
    expect(line.endsWith('\n')).toBe(true)
    expect(line.slice(0, -1)).toMatch(/^[\x20-\x7e]*$/)
    expect(JSON.parse(line)).toEqual({
      level: 'info',
      at: '1970-01-01T00:00:00.000Z',
      message: nasty,
      job_id: nasty,
      attempt: 2,
    })
  })

  it('keeps its own words against fields of the same name', () => {
    const line = logLine('warn', 'true', { level: 'info', message: 'false', at: 'never' }, 1000)
    expect(JSON.parse(line)).toEqual({ level: 'warn', message: 'true', at: '1970-01-01T00:00:01.000Z' })
  })

  it('goes where it is told', () => {
    const lines: string[] = []
    const log = linesTo(
      (line) => lines.push(line),
      () => 0,
    )
    log.info('one')
    log.warn('two')
    log.error('three')
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(['info', 'warn', 'error'])
  })
})
