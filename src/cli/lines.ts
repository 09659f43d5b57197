/** Lines of a file, one at a time: however long it is, no more of it is in memory. */
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { failureOf, Missing } from './exit.ts'

/** (Node's own reads a thousand of them ahead, which are a thousand payloads here.) */
export async function* linesOf(path: string): AsyncGenerator<string> {
  /** What has been read of a line that goes on. */
  let begun: string[] = []
  const whole = (end: string): string => {
    const line = [...begun, end].join('')
    begun = []
    return line.endsWith('\r') ? line.slice(0, -1) : line
  }
  for await (const chunk of chunksOf(path)) {
    const ends = chunk.split('\n')
    const rest = ends.pop() ?? ''
    for (const end of ends) yield whole(end)
    begun.push(rest)
  }
  const last = whole('')
  if (last !== '') yield last
}

async function* chunksOf(path: string): AsyncGenerator<string> {
  try {
    for await (const chunk of createReadStream(path, 'utf8')) yield chunk as string
  } catch (error) {
    throw new Missing(`${path} cannot be read: ${failureOf(error).message}`)
  }
}

/** A file that may be read more than once: the one named, or what comes on standard input, put aside for the time being. */
export async function withFile<T>(file: string | undefined, use: (path: string) => Promise<T>): Promise<T> {
  if (file !== undefined && file !== '-') return await use(file)
  // Its owner's alone, as temporary folders are made: there are payloads in it.
  const folder = await mkdtemp(join(tmpdir(), 'pawl-import-'))
  try {
    const path = join(folder, 'standard-input')
    await pipeline(process.stdin, createWriteStream(path, { mode: 0o600 }))
    return await use(path)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
