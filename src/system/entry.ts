/**
 * Modules that threads and processes begin with. They are files, beside those that start them; a bundler leaves them
 * behind. Then they are looked for where the package is installed, if it is.
 */
import { existsSync } from 'node:fs'
import * as modules from 'node:module'
import { pathToFileURL } from 'node:url'

/** There is no such file: pawl was bundled, and is not installed beside the bundle. */
export class Bundled extends Error {
  override readonly name = 'Bundled'

  constructor(module: string) {
    super(
      `pawl: ${module} cannot be found: pawl was bundled, and a thread of its own begins with a file. Keep it external and installed: esbuild --external:pawl, Vite ssr.external: ['pawl'], Rollup external: ['pawl'], Next serverExternalPackages: ['pawl'].`,
    )
  }
}

/**
 * The module that something begins with, by its path in the package. `from` is `import.meta.url` of the module that starts
 * it, which some bundles do not have, and `own` its path: in a bundle it has another, and what is beside that is not ours.
 */
export function entry(from: string | undefined, own: string, module: string): URL {
  const extension = from?.endsWith('.ts') === true ? 'ts' : 'js'
  const end = `/${own}.${extension}`
  if (from?.endsWith(end) === true) {
    const beside = new URL(`${from.slice(0, -end.length)}/${module}.${extension}`)
    if (existsSync(beside)) return beside
  }
  try {
    // By no name of its own: the banner that esbuild needs for CommonJS declares `createRequire`, and bundled they are one file.
    const manifest = modules.createRequire(from ?? process.argv[1] ?? `${process.cwd()}/`).resolve('pawl/package.json')
    return new URL(`./dist/${module}.js`, pathToFileURL(manifest))
  } catch {
    throw new Bundled(`${module}.js`)
  }
}
