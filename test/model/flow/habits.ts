/** What a store must do beside what the core tells it, each as small as it can be: what could be forgotten there is a mutant of these. */

/** Since when a job that is taken back has waited: its place is kept. */
export const placeOnReturn = (readyAt: number, _now: number): number => readyAt

/** Whether a job that its owner has left has slots no more; `aside`: it waits for a signal. */
export const vacates = (_then: 'ended' | 'aside' | 'again'): boolean => true

/** What has come since somebody last looked: it is written with the job, and read by the next look. */
export const noted = (arrived: boolean): boolean => arrived

/** Places that the ticker looks at whatever has changed. */
export const always = <Place>(lanes: readonly Place[], queues: readonly Place[]): readonly Place[] => [
  ...lanes,
  ...queues,
]

/** Of a queue that is paused, those that stand and are taken back. */
export const takenBackByPause = <Job>(standing: readonly Job[]): readonly Job[] => standing

/** Where somebody looks once a queue is resumed. */
export const lookedAtByResume = <Place>(queue: Place): readonly Place[] => [queue]

/** Where somebody looks once a job that had slots is cancelled. */
export const lookedAtByCancel = <Place>(freed: readonly Place[]): readonly Place[] => freed
