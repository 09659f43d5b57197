/**
 * Whether `bench/` compiles. The peers are installed apart, by whoever measures; where they are not, files that import one
 * of them cannot be judged and are left out, and all the others are held against what they call of ours.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const bench = JSON.parse(readFileSync('bench/package.json', 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>
}
const peers = Object.keys(bench.dependencies)

const args = ['-p', 'tsconfig.bench.json', '--pretty', 'false']
const { status, stdout, stderr } = spawnSync('tsc', args, { encoding: 'utf8' })
// A complaint begins with its file; lines that only explain it begin with a blank.
const complaints = stdout.split(/\n(?=\S)/).filter((text) => text.trim() !== '')
const fileOf = (complaint: string) => complaint.split('(')[0]
const notFound = (complaint: string) => /error TS2307: Cannot find module '([^']+)'/.exec(complaint)?.[1]
const lacksPeer = (complaint: string) => {
  const module = notFound(complaint)
  return peers.some((name) => module === name || module?.startsWith(`${name}/`))
}

const unjudged = new Set(complaints.filter(lacksPeer).map(fileOf))
const valid = complaints.filter((complaint) => !unjudged.has(fileOf(complaint)))
process.stderr.write(stderr)
for (const complaint of valid) console.error(complaint.trimEnd())
if (unjudged.size > 0) console.log(`not judged, as what they import is not installed: ${[...unjudged].join(', ')}`)
// A compiler that failed without a complaint was not run.
process.exit(valid.length > 0 || (status !== 0 && complaints.length === 0) ? 1 : 0)
