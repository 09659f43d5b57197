/**
 * What crashes while it is tested leaves something to look at, in `coverage/crashes/`: a core dump where the kernel writes
 * one, with the stacks of its threads where gdb is there to read them, and Node's own report where Node saw it coming (out of
 * memory, a failed check of V8). A run adds to what is there and takes nothing away.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

export const CRASHES = resolve('coverage/crashes')

/** The same command, allowed to leave a core dump: that is a limit of the process, which its children inherit. */
export const leavingCores = (command: readonly string[]): readonly string[] =>
  process.platform === 'win32' ? command : ['sh', '-c', 'ulimit -c unlimited 2>/dev/null; exec "$@"', 'sh', ...command]

/** For its environment: where Node puts its report. */
export function reporting(options = process.env['NODE_OPTIONS'] ?? ''): string {
  mkdirSync(CRASHES, { recursive: true })
  return `${options} --report-on-fatalerror --report-directory=${CRASHES}`.trim()
}

/** Where the kernel puts cores, as far as they can be found again. */
export interface CorePlace {
  /** Files like this, by their full path; undefined: another program takes them. */
  readonly folder: string | undefined
  readonly begins: string
  readonly told: string
}

export function corePlace(pattern = patternOfKernel(), cwd = process.cwd()): CorePlace {
  if (pattern.startsWith('|')) {
    const program = basename(pattern.slice(1).trim().split(/\s/)[0] ?? '')
    return { folder: undefined, begins: '', told: `core dumps go to ${program}; with systemd: coredumpctl list` }
  }
  const path = resolve(cwd, pattern)
  // What comes after the first % is the number, the name or the time of the process.
  const begins = basename(path).split('%')[0] ?? ''
  return { folder: dirname(path), begins, told: `core dumps are written as ${path}` }
}

/** macOS has one place for all. */
function patternOfKernel(): string {
  const file = '/proc/sys/kernel/core_pattern'
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : '/cores/core.%P'
}

/** Takes the cores written since then into our folder, under the name of the part; one line about each, to be printed. */
export function takeCores(part: string, sinceMs: number, place = corePlace(), into = CRASHES): readonly string[] {
  const { folder, begins } = place
  if (folder === undefined || !existsSync(folder)) return []
  const isCore = (name: string) => name === begins || /^[.-]?\d/.test(name.slice(begins.length))
  const found = readdirSync(folder).filter((name) => name.startsWith(begins) && isCore(name))
  return found.flatMap((name) => {
    const file = join(folder, name)
    const written = statSync(file)
    if (!written.isFile() || written.mtimeMs < sinceMs) return []
    mkdirSync(into, { recursive: true })
    const when = written.mtime.toISOString().replaceAll(':', '')
    const kept = join(into, `${part.replaceAll(/\W+/g, '-')}-${when}-${name}`)
    // Copied: the kernel may write to another disk.
    cpSync(file, kept)
    rmSync(file)
    return [`core dump kept: ${kept}${stacksOf(kept)}`]
  })
}

/** Whatever gdb can tell, beside the dump. */
function stacksOf(core: string): string {
  const read = `gdb -batch -ex "thread apply all bt" ${process.execPath} ${core}`
  const { status, stdout } = spawnSync('gdb', ['-batch', '-nx', '-ex', 'thread apply all bt', process.execPath, core], {
    encoding: 'utf8',
    timeout: 120_000,
    maxBuffer: 64 * 1024 * 1024,
  })
  if (status !== 0) return ` (its stacks: ${read})`
  writeFileSync(`${core}.txt`, stdout)
  return `, its stacks: ${core}.txt`
}
