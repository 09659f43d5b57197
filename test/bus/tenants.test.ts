/** Accounts of NATS are tenants: what one publishes does not exist for another. */
import { expect, it } from 'vitest'
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

  it.each([
    ['nobody listens', 'nats://127.0.0.1:1', /there is no NATS for us at nats:\/\/127.0.0.1:1/],
    ['it is another kind of address', 'http://somebody:secret@host', /^pawl: http:\/\/somebody@host is no address/],
  ])('are told where there is no bus: %s', async (_, url, message) => {
    await using pawl = await open('memory:', { log: 'silent' })
    await expect(busOver(pawl, url)).rejects.toThrow(message)
  })
})
