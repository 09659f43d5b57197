/** What lets a job in, as it is said on the command line. */
import type { Command } from 'commander'
import type { EnqueueOptions } from '../library/enqueue-options.ts'
import { collect } from './arguments.ts'

export interface FlowWords {
  readonly limitKey?: readonly string[]
  readonly fair?: string
}

export const withFlowOptions = (command: Command): Command =>
  command
    .option('--limit-key <key>', 'a limit key, in the order in which its type declares them; may be repeated', collect)
    .option('--fair <name>', 'on whose account it takes turns')

export const flowIn = ({ limitKey, fair }: FlowWords): EnqueueOptions['flow'] =>
  limitKey === undefined && fair === undefined ? undefined : { keys: limitKey ?? [], fair }
