/** A small file system, in memory: a disk that can be full. */
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SmallDisk extends AsyncDisposable {
  readonly path: string
  /** To its last byte. */
  fill(): void
  /** As much as it was filled with is free again. */
  free(): void
}

/** Why there can be none: only root mounts anything, and not everywhere. Undefined: there can. */
export function smallDiskMissing(): string | undefined {
  const why =
    process.platform !== 'linux' ? 'this is no Linux' : process.getuid?.() !== 0 ? 'only root mounts' : refusal()
  return why === undefined
    ? undefined
    : `No small file system can be mounted here (${why}): what a full disk does is skipped.`
}

function refusal(): string | undefined {
  const path = mkdtempSync(join(tmpdir(), 'pawl-disk-'))
  try {
    const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', path])
    if (status === 0) spawnSync('umount', [path])
    return status === 0 ? undefined : String(stderr).trim() || 'mount is not here'
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
}

export function mountSmall(megabytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), 'pawl-disk-'))
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path])
  if (status !== 0) throw new Error(`nothing can be mounted here: ${stderr}`)
  const ballast = join(path, 'ballast')
  return {
    path,
    fill() {
      const file = openSync(ballast, 'a')
      try {
        for (const bytes of [65_536, 4_096, 1]) while (wrote(file, bytes));
      } finally {
        closeSync(file)
      }
    },
    free: () => rmSync(ballast, { force: true }),
    async [Symbol.asyncDispose]() {
      spawnSync('umount', ['-l', path])
      rmSync(path, { recursive: true, force: true })
    },
  }
}

function wrote(file: number, bytes: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(bytes)) === bytes
  } catch {
    return false
  }
}
