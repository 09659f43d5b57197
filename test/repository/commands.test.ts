import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { program } from '../../src/cli/program.ts'
import { filesLike } from '../support/source.ts'

const root = program({
  session: () => {
    throw new Error('nothing is run here')
  },
})

/** Commands as pages show them: in a line of code, or at the beginning of a line in a block of it. */
function shownIn(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^```(?:sh)?\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) => block.split('\n'))
  const inline = [...text.matchAll(/(?<!`)`(pawl [^`\n]+)`/g)].map(([, command = '']) => command)
  return [...blocks, ...inline]
    .flatMap((line) => line.replace(/\s#.*$/, '').split(/ (?:\||&&) /))
    .filter((line) => line.startsWith('pawl '))
}

/** What of it the command line does not know. */
function unknownIn(line: string): readonly string[] {
  const words = line
    .replaceAll(/"[^"]*"|'[^']*'/g, 'x')
    .split(/\s+/)
    .slice(1)
  let command: Command = root
  const unknown: string[] = []
  for (const word of words) {
    const child = command.commands.find((each) => each.name() === word || each.aliases().includes(word))
    const name = /^-[\w-]+/.exec(word)?.[0]
    if (child !== undefined) command = child
    else if (name !== undefined && !knows(command, name)) unknown.push(word)
    else if (name === undefined && command.commands.length > 0 && !/^[…<[]/.test(word)) unknown.push(word)
  }
  return unknown
}

const knows = (command: Command, name: string): boolean =>
  ['--help', '--version'].includes(name) ||
  [...command.options, ...root.options].some(({ short, long }) => short === name || long === name)

describe('the commands that pages show', () => {
  const pages = ['README.md', ...filesLike('docs/*.md')].map((path) => ({
    path,
    shown: shownIn(readFileSync(path, 'utf8')),
  }))

  it.each(pages.filter(({ shown }) => shown.length > 0))('$path: can be given', ({ shown }) => {
    expect(shown.flatMap((line) => unknownIn(line).map((word) => `${line}: ${word}`))).toEqual([])
  })

  it('would be found out', () => {
    expect(pages.flatMap(({ shown }) => shown).length).toBeGreaterThan(50)
    expect(unknownIn('pawl queues stop')).toEqual(['stop'])
    expect(unknownIn('pawl jobs ls --colour red')).toEqual(['--colour'])
    expect(unknownIn('pawl jobs ls --state failed')).toEqual([])
  })
})
