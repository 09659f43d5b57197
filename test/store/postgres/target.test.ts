import { describe, expect, it } from 'vitest'
import { type Address, targetOf } from '../../../src/store/postgres/connection/target.ts'

const addresses = (address: Address) => targetOf(address).hosts.map(({ connectionString }) => connectionString)

describe('an address', () => {
  it('of one host is left as it is, but for what the driver would not understand', () => {
    const url = 'postgres://ann:s%40cret@db.example.com:6432/app?sslmode=require&application_name=shop'
    expect(addresses(url)).toEqual([url])
    expect(addresses(`${url}&target_session_attrs=any&connect_timeout=3`)).toEqual([url])
  })

  it('of several hosts is one for each, in the order they were given', () => {
    const url = 'postgresql://ann:pw@a,b:5433,[::1]:5434/app?sslmode=disable'
    expect(addresses(url)).toEqual([
      'postgresql://ann:pw@a/app?sslmode=disable',
      'postgresql://ann:pw@b:5433/app?sslmode=disable',
      'postgresql://ann:pw@[::1]:5434/app?sslmode=disable',
    ])
  })

  it('may name its hosts in the query, sockets among them', () => {
    expect(addresses('postgres:///app?host=/run/pg,b&port=5433,5434')).toEqual([
      'postgres:///app?host=%2Frun%2Fpg&port=5433',
      'postgres:///app?host=b&port=5434',
    ])
    expect(addresses('postgres://ann@/app?host=a,b&port=5433')).toEqual([
      'postgres://ann@/app?host=a&port=5433',
      'postgres://ann@/app?host=b&port=5433',
    ])
  })

  it('may be what the driver takes: a password that is asked for each time, certificates', () => {
    const password = () => 'of the minute'
    const ssl = { rejectUnauthorized: true }
    expect(targetOf({ host: 'a, b', port: 5433, password, ssl }).hosts).toEqual([
      { host: 'a', port: 5433, password, ssl },
      { host: 'b', port: 5433, password, ssl },
    ])
    expect(targetOf({ connectionString: 'postgres://a,b/app', password }).hosts).toEqual([
      { connectionString: 'postgres://a/app', password },
      { connectionString: 'postgres://b/app', password },
    ])
    expect(targetOf({ database: 'app' }).hosts).toEqual([{ database: 'app' }])
  })

  it('says which host will do, in which order, and how long one may take', () => {
    expect(targetOf('postgres://a/app')).toMatchObject({ wants: 'read-write', order: 'given', connectWithinMs: 5_000 })
    const asked = 'postgres://a/app?target_session_attrs=primary&load_balance_hosts=random&connect_timeout=2'
    expect(targetOf(asked)).toMatchObject({ wants: 'primary', order: 'random', connectWithinMs: 2_000 })
    expect(targetOf('postgres://a/app?connect_timeout=0').connectWithinMs).toBe(5_000)
  })

  it('that asks for what pawl cannot use is refused, with what it may say', () => {
    expect(() => targetOf('postgres://a/app?target_session_attrs=standby')).toThrow(/read-write, primary, any/)
    expect(() => targetOf('postgres://a/app?load_balance_hosts=yes')).toThrow(/disable or random/)
    expect(() => targetOf('postgres://a/app?connect_timeout=soon')).toThrow(/in seconds/)
  })
})
