/**
 * `npm run bench`: pawl beside its peers, beside bare SQL and beside what it was, on the same servers, in the same run,
 * interleaved.
 */
import { build, buildBefore } from './build.ts'
import { installPeers } from './install.ts'
import { optionsFrom, USAGE } from './options.ts'
import { loadNow, surroundings } from './report/surroundings.ts'

const options = optionsFrom(process.argv.slice(2))
if (options === undefined) {
  console.log(USAGE)
} else {
  const loadBefore = loadNow()
  installPeers()
  build()
  if (options.against !== undefined) buildBefore(options.against)
  const { installServers } = await import('./servers.ts')
  installServers(options.plan)
  const { measure } = await import('./measure.ts')
  const { report } = await import('./report/report.ts')
  const on = surroundings(loadBefore)
  await report(await measure(options), options, on)
}
