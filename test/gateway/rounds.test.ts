/** The event loop is shared out by token: who sends little is taken up before the rest of what somebody else sent. */
import { describe, expect, it } from 'vitest'
import { capsWith } from '../../src/gateway/caps.ts'
import { Rounds } from '../../src/gateway/rounds.ts'

describe('rounds', () => {
  it('let one small request go on at once, and some of them together', async () => {
    const rounds = new Rounds(capsWith())
    let turned = false
    setImmediate(() => {
      turned = true
    })
    await Promise.all(Array.from({ length: 4 }, () => rounds.take('a', 0, true)))
    expect(turned).toBe(false)
  })

  it('take up whoever sends little before the rest of whoever sends much', async () => {
    const rounds = new Rounds(capsWith())
    const order: string[] = []
    const take = (token: string, length: number) => rounds.take(token, length, false).then(() => order.push(token))
    const much = Array.from({ length: 100 }, () => take('busy', 60_000))
    const little = ['calm', 'quiet', 'calm', 'quiet'].map((token) => take(token, 100))
    await Promise.all([...much, ...little])
    expect(order.slice(0, 6).toSorted()).toEqual(['busy', 'busy', 'calm', 'calm', 'quiet', 'quiet'])
    expect(order).toHaveLength(104)
  })

  it('give two that send as much the same', async () => {
    const rounds = new Rounds(capsWith())
    const order: string[] = []
    const take = (token: string) => rounds.take(token, 30_000, false).then(() => order.push(token))
    await Promise.all([...Array.from({ length: 40 }, () => take('a')), ...Array.from({ length: 40 }, () => take('b'))])
    for (let n = 10; n <= 80; n += 10) {
      const share = order.slice(0, n).filter((token) => token === 'a').length / n
      expect(share).toBeGreaterThan(0.35)
      expect(share).toBeLessThan(0.65)
    }
  })

  it('let whoever had much understood at once wait until others have had as much', async () => {
    const rounds = new Rounds(capsWith())
    const order: string[] = []
    const take = (token: string, length: number) => rounds.take(token, length, false).then(() => order.push(token))
    await take('a', 8_000_000)
    const next = take('a', 100)
    const others = Array.from({ length: 50 }, () => take('b', 60_000))
    await Promise.all([next, ...others])
    expect(order.indexOf('a', 1)).toBeGreaterThan(20)
  })

  it('have so many of a token wait, owners apart', async () => {
    const rounds = new Rounds(capsWith({ waitingPerToken: 3 }))
    const taken = Array.from({ length: 5 }, () =>
      rounds.take('a', 100_000, true).then(
        () => 'taken',
        () => 'refused',
      ),
    )
    const owner = rounds.take('a', 100, false).then(() => 'taken')
    expect(await Promise.all(taken)).toEqual(['taken', 'taken', 'taken', 'taken', 'refused'])
    expect(await owner).toBe('taken')
  })
})
