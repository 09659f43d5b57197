/** A cell: the process in which a worker has a job run by itself, `node cell.ts <CellData as JSON>`. */
import process from 'node:process'
import { assert } from './core/assert.ts'
import { reasonOf } from './core/reason.ts'
import { Producer } from './library/producer.ts'
import { spawning } from './library/spawn.ts'
import { realClock } from './system/clock.ts'
import { enterCell } from './worker/apart/entered.ts'
import type { CellData, FromCell, Order, ToCell } from './worker/apart/messages.ts'
import { RemoteRun } from './worker/apart/remote-run.ts'
import { sentError } from './worker/apart/sent-error.ts'
import type { JobDefinition } from './worker/definition.ts'
import { exportedJobs } from './worker/exported-jobs.ts'
import { handlerHere } from './worker/handler.ts'
import { checkedOutput, checkedValue } from './worker/schema.ts'

const { module } = JSON.parse(process.argv[2] ?? '{}') as CellData
/** The run under way. */
let run: RemoteRun | undefined

// The worker decides when this process ends; whoever presses Ctrl-C asks the worker.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
// Without a worker nothing that is done here counts.
process.on('disconnect', () => process.exit())
process.on('uncaughtExceptionMonitor', (error) => say({ dying: sentError(error) }))

enterCell()
let jobs: readonly JobDefinition[] | undefined
try {
  jobs = exportedJobs((await import(module)) as object)
  process.on('message', (message: ToCell) => hear(message, jobs ?? []))
  say({ ready: true })
} catch (error) {
  assert(process.send !== undefined, 'a cell is started by a worker')
  process.send({ unusable: `${module} cannot be imported: ${reasonOf(error)}` }, () => process.exit())
}

function hear(message: ToCell, known: readonly JobDefinition[]): void {
  if ('run' in message) void perform(message.run, known)
  else if ('interrupt' in message) run?.interrupt(message.interrupt)
  else if ('error' in message) run?.refused(message.reply, message.error)
  else run?.answered(message.reply, message.value)
}

async function perform(order: Order, known: readonly JobDefinition[]): Promise<void> {
  const { type, tenant, traced } = order
  const current = new RemoteRun({
    order,
    clock: realClock,
    send: say,
    spawning: (engine) => spawning(new Producer(engine), engine, traced),
  })
  run = current
  try {
    const definition = known.find((each) => each.type === type && each.tenant === tenant)
    if (definition === undefined) throw new Error(`${module} exports no job ${type}: it cannot be run by itself.`)
    const answer = await answerOf(definition, order, current)
    await heardOut(current)
    say({ answer })
  } catch (error) {
    if (current.chosen) await heardOut(current)
    say({ threw: current.written(error) })
  } finally {
    run = undefined
  }
}

/** Before the run ends as its handler wants it to. */
const heardOut = (current: RemoteRun): Promise<void> => current.spoken.heardOut((error) => current.doom(error))

/** As JSON has it. */
async function answerOf(definition: JobDefinition, { input, assignment }: Order, current: RemoteRun): Promise<unknown> {
  const handler = handlerHere(definition)
  const checked = await checkedValue(handler, input)
  if (!checked.ok) throw checked.error
  if (assignment.job.phase === 'compensate') {
    await handler.undo(checked.value, current)
    return undefined
  }
  const output = await checkedOutput(handler, await handler.run(checked.value, current))
  if (!output.ok) throw output.error
  return output.value === undefined ? undefined : JSON.parse(output.value)
}

/** What a handler wants to say may be nothing that can leave a process; then whoever said it hears of it. */
function say(message: FromCell): void {
  process.send?.(message)
}
