import { SurveyError } from "../survey/errors.js";

/**
 * Refuse if script of another page could read this one: an ancestor, one of its frames, or the page that opened it is
 * of this frame's own origin. Frames of questions, at its very address, are no such page.
 */
export function checkReach(own = window) {
  const others = [...frames(own.top), own.opener, own.top.opener].filter((other) => other && other !== own);
  if (others.some((other) => isReadable(other) && !isCopy(other, own))) throw new SurveyError("question_reach");
}

// A window and all frames in it, of whatever origin: their number and order can be seen from everywhere.
function frames(view) {
  return [view, ...Array.from({ length: view.length }, (_, index) => view[index]).flatMap(frames)];
}

function isReadable(other) {
  try {
    return Boolean(other.document);
  } catch {
    return false;
  }
}

// The frames of one question and of a block are files of one folder, whose endings some hosts leave out.
function folderOf({ pathname }) {
  return pathname.replace(/\/(block|index)(\.html)?$/, "/");
}

function isCopy({ location }, own) {
  return location.origin === own.location.origin && folderOf(location) === folderOf(own.location);
}
