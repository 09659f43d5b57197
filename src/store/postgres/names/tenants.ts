import { original } from '../../codec/text.ts'
import type { LoadParts } from '../read/load.ts'

/** The one that is asked for, or all there are: each has words of its own (codec/marks.ts). */
export async function tenantsOf(
  { run, statements }: Pick<LoadParts, 'run' | 'statements'>,
  tenant: string | undefined,
): Promise<readonly string[]> {
  if (tenant !== undefined) return [tenant]
  return (await run(statements.tenants, [])).map(([name]) => original(String(name)))
}
