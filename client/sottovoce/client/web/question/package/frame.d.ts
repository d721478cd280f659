/** Have `<sottovoce-question mode="frame">` ask in a frame; importing this does it. */
export function bringFrame(): Promise<void>;
