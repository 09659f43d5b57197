/** Policies of one's own tenant: what is set for its jobs, beside what the installation has in files. */
import type { z } from 'zod'
import type { KeptPolicy } from '../../policy/kept.ts'
import { mustBeUnbound } from '../bound.ts'
import { type Call, type Handler, json, type Parts, type Reply } from '../call.ts'
import { beyond } from '../caps.ts'
import type { policyRemoval, policyText } from '../contract/policy-schema.ts'
import { toWire } from '../contract/wire.ts'
import { Objected, objection } from '../problem.ts'
import { audited } from './audit.ts'

export const listPolicies: Handler = async (call, parts) => {
  mustBeUnbound(call, 'a policy')
  const policies = await (await keptBy(parts)).list(call.token.tenant)
  // A text is told with its policy alone.
  return json(200, { policies: policies.map(({ text: _, ...rest }) => toWire(rest)) })
}

export const showPolicy: Handler = async (call, parts) => {
  mustBeUnbound(call, 'a policy')
  const name = nameIn(call)
  const policy = await (await keptBy(parts)).find(call.token.tenant, name)
  if (policy === undefined) throw missing(name)
  return shown(policy)
}

export const setPolicy: Handler = async (call, parts) => {
  mustBeUnbound(call, 'a policy')
  const { tenant, scope, name: who } = call.token
  const name = nameIn(call)
  const kept = await keptBy(parts)
  const { policiesPerTenant } = parts.caps
  const asked = { ...(call.body as z.output<typeof policyText>), tenant, name, by: `${scope}:${who}` }
  const answer = await kept.set({ ...asked, rev: asked.rev }, async (there) => {
    if (there === undefined && (await kept.count(tenant, policiesPerTenant)) >= policiesPerTenant)
      throw beyond('policiesPerTenant', parts.caps)
    await audited(call, parts, { act: 'policy.set', about: name })
  })
  switch (answer.status) {
    case 'ok':
      return shown(answer.policy)
    case 'refused':
      throw broken(answer.violations)
    case 'conflict':
      throw conflict(name, answer.rev)
  }
}

export const removePolicy: Handler = async (call, parts) => {
  mustBeUnbound(call, 'a policy')
  const { tenant } = call.token
  const name = nameIn(call)
  const { rev } = call.query as z.output<typeof policyRemoval>
  const kept = await keptBy(parts)
  const answer = await kept.remove({ tenant, name, rev }, () =>
    audited(call, parts, { act: 'policy.removed', about: name }),
  )
  switch (answer.status) {
    case 'ok':
      return shown(answer.policy)
    case 'missing':
      throw missing(name)
    case 'conflict':
      throw conflict(name, answer.rev)
  }
}

/** A gateway that is asked for none loads no library for conditions. */
async function keptBy({ engine }: Parts) {
  const { KeptPolicies } = await import('../../policy/kept.ts')
  return new KeptPolicies(engine)
}

const shown = (policy: KeptPolicy): Reply => json(200, toWire(policy) as object)

const nameIn = ({ params }: Call): string => params['policy'] ?? ''

const missing = (name: string): Objected => new Objected(objection('NO_ROUTE', `There is no policy ${name}.`))

const broken = (violations: Parameters<typeof objection>[2]): Objected =>
  new Objected(objection('MALFORMED', 'It is no policy, and what was set before holds.', violations))

/** `rev`: of what is there. */
function conflict(name: string, rev: number): Objected {
  const problem = objection(
    'CHANGED',
    rev === 0 ? `There is no policy ${name}.` : `Policy ${name} is at revision ${rev}.`,
  )
  return new Objected({ ...problem, body: { ...problem.body, rev } })
}
