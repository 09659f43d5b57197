/** Examples belong to a command: its help shows them, and so does its page. */
import type { Command } from 'commander'

const shown = new WeakMap<Command, readonly string[]>()

export function examples(command: Command, ...lines: readonly string[]): Command {
  shown.set(command, lines)
  return command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`)
}

export const examplesOf = (command: Command): readonly string[] => shown.get(command) ?? []
