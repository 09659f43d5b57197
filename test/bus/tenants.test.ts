/** Accounts of NATS are tenants: what one publishes does not exist for another. */
import { expect, it } from 'vitest'
import type { Pawl } from '../../src/library/pawl.ts'
import { open } from '../../src/open.ts'
import { eventually } from '../support/eventually.ts'
import { describeOnNats, startNats } from '../support/nats.ts'
import { busOver, Peer } from './bus-fixture.ts'

const ACCOUNTS = `accounts {
  acme { jetstream: enabled, users: [
    { user: acme, password: a },
    { user: chat, password: c, permissions: { publish: ["pawl.acme.submit.job.chat.>"], subscribe: ["_INBOX.>"] } }
  ] }
  rival { jetstream: enabled, users: [{ user: rival, password: r }] }
}`

describeOnNats('tenants of a bus', () => {
  it('do not publish as one another, in their accounts and within one', async () => {
    await using nats = await startNats(ACCOUNTS)
    await using acme = await open('memory:', { tenant: 'acme', log: 'silent' })
    await using rival = await open('memory:', { tenant: 'rival', log: 'silent' })
    await using _one = await busOver(acme, nats.as('acme', 'a'))
    await using _two = await busOver(rival, nats.as('rival', 'r'))
    await using own = await Peer.at(nats.as('acme', 'a'))
    await using posing = await Peer.at(nats.as('rival', 'r'), 'acme')
    await using chat = await Peer.at(nats.as('chat', 'c'))
    // In the account of another there is nobody who would keep it, or answer.
    await expect(posing.submit({ job_id: 'posed', topic: 'job.chat.a' })).rejects.toThrow()
    await expect(posing.keep(posing.subjects.result, { job_id: 'own', status: 'FAILED' })).rejects.toThrow()
    await expect(posing.keep(posing.subjects.cancel, { job_id: 'own' })).rejects.toThrow()
    await expect(posing.ask(posing.subjects.heartbeat, { worker_id: 'w', pool: 'p', free: 1 })).rejects.toThrow()
    // Within an account its permissions say who may do what.
    await expect(chat.submit({ job_id: 'code', topic: 'job.code.a' })).rejects.toThrow()
    await chat.submit({ job_id: 'chat', topic: 'job.chat.a' })
    await own.submit({ job_id: 'own', topic: 'job.code.a' })
    await eventually('what was allowed', async () => (await acme.get('chat')) && (await acme.get('own')))
    expect((await acme.find()).jobs.map(({ spec }) => spec.alias).sort()).toEqual(['chat', 'own'])
    expect((await rival.find()).jobs).toEqual([])
  })

  it('do nothing to one another, whichever two they are: each subject of each, said by each other', async () => {
    const names = ['acme', 'rival', 'third']
    const accounts = names.map((name) => `${name} { jetstream: enabled, users: [{ user: ${name}, password: p }] }`)
    await using nats = await startNats(`accounts { ${accounts.join('\n')} }`)
    await using stack = new AsyncDisposableStack()
    const homes = new Map<string, { readonly pawl: Pawl; readonly peer: Peer; readonly fence: string }>()
    for (const name of names) {
      const pawl = stack.use(await open('memory:', { tenant: name, log: 'silent' }))
      stack.use(await busOver(pawl, nats.as(name, 'p')))
      const peer = stack.use(await Peer.at(nats.as(name, 'p'), name))
      await peer.submit({ job_id: 'own', topic: 'job.a' })
      await eventually('own', () => pawl.get('own'))
      await pawl.admit('own')
      await peer.ask(peer.subjects.heartbeat, { worker_id: 'w1', pool: 'job.a', free: 1 })
      const { fence } = await peer.dispatched('job.a')
      homes.set(name, { pawl, peer, fence })
    }
    for (const [name, { pawl, fence }] of homes) {
      const before = await pawl.get('own')
      for (const other of names.filter((each) => each !== name)) {
        await using posing = await Peer.at(nats.as(other, 'p'), name)
        const { subjects } = posing
        const heard: string[] = []
        for (const what of ['event.>', 'dead.>', 'dispatch.>', 'refused'])
          posing.connection.subscribe(`pawl.${name}.${what}`, {
            callback: (_, { subject }) => void heard.push(subject),
          })
        const own = { job_id: 'own', fence, worker_id: 'thief' }
        // Publish as, answer for, cancel: nobody is there who would keep it, though fence and names are right.
        await expect(posing.submit({ job_id: 'posed', topic: 'job.a' })).rejects.toThrow()
        await expect(posing.keep(subjects.result, { ...own, status: 'SUCCEEDED' })).rejects.toThrow()
        await expect(posing.keep(subjects.cancel, { job_id: 'own' })).rejects.toThrow()
        for (const [subject, message] of [
          [subjects.start, own],
          [subjects.progress, { ...own, progress: { done: 1 } }],
          // Starve: whoever said it had room here would be sent what is another's.
          [subjects.heartbeat, { worker_id: 'thief', pool: 'job.a', free: 1_000, jobs: [{ job_id: 'own', fence }] }],
        ] as const)
          await expect(posing.ask(subject, message)).rejects.toThrow()
        // See, and subscribe to: not a stream of the other's is there, and nothing of what it is told is heard.
        await expect(posing.dispatchesTo('job.a', 1)).rejects.toThrow()
        await expect(posing.told(subjects.refused)).rejects.toThrow()
        expect(heard).toEqual([])
      }
      expect(await pawl.get('own')).toEqual(before)
      expect((await pawl.find()).jobs).toHaveLength(1)
    }
  })

  it.each([
    ['nobody listens', 'nats://127.0.0.1:1', /there is no NATS for us at nats:\/\/127.0.0.1:1/],
    ['it is another kind of address', 'http://somebody:secret@host', /^pawl: http:\/\/somebody@host is no address/],
  ])('are told where there is no bus: %s', async (_, url, message) => {
    await using pawl = await open('memory:', { log: 'silent' })
    await expect(busOver(pawl, url)).rejects.toThrow(message)
  })
})
