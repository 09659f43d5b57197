/** `npm run bench`: pawl beside its peers and beside bare SQL, on the same servers, in the same run, interleaved. */
import { build } from './build.ts'
import { installPeers } from './install.ts'
import { optionsFrom, USAGE } from './options.ts'

const options = optionsFrom(process.argv.slice(2))
if (options === undefined) {
  console.log(USAGE)
} else {
  installPeers()
  build()
  const { measure } = await import('./measure.ts')
  const { report } = await import('./report/report.ts')
  report(await measure(options), options)
}
