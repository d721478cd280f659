#!/bin/sh
# Expected of removeAction(action) of a queue for devices without a network: the one action is taken out of those that wait, here the
# interview of somebody who withdraws consent on the spot, and the others are sent once there is a network.
# Seen: all are. removeAction looks for uuid in the action, where the queue keeps it in its meta; without one, the reducer goes on to the
# case below, which empties the queue. Of three interviews none is sent. removeAction({ uuid }), made by hand, takes out one.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund --ignore-scripts redux-offline-queue@1.1.2 redux@4.2.1
node - <<'END'
const { readFileSync } = require("fs");
const { applyMiddleware, combineReducers, createStore } = require("redux");
const { OFFLINE, ONLINE, markActionsOffline, offlineMiddleware, reducer, removeAction } = require("redux-offline-queue");
console.log("redux-offline-queue", JSON.parse(readFileSync("node_modules/redux-offline-queue/package.json")).version);
const creators = { interview: (person) => ({ type: "INTERVIEW", person }) };
markActionsOffline(creators, ["interview"]);
const send = (remove) => {
  const sent = [];
  const server = () => (next) => (action) => {
    if (action.type === "INTERVIEW" && !action.skipSaga) sent.push(action.person);
    return next(action);
  };
  const store = createStore(combineReducers({ offline: reducer }), applyMiddleware(offlineMiddleware(), server));
  store.dispatch({ type: OFFLINE });
  for (const person of ["first", "second", "third"]) store.dispatch(creators.interview(person));
  remove(store, store.getState().offline.queue[1]);
  const waiting = store.getState().offline.queue.map(({ person }) => person);
  store.dispatch({ type: ONLINE });
  return [waiting, sent];
};
const seen = [
  send(() => {}),
  send((store, action) => store.dispatch(removeAction(action))),
  send((store, action) => store.dispatch(removeAction({ uuid: action.meta.uuid }))),
];
["nothing removed:", "the second removed:", "removed by uuid:"].forEach((name, at) => console.log(name, "waiting", seen[at][0], "sent", seen[at][1]));
const all = ["first", "second", "third"];
process.exitCode = JSON.stringify(seen) === JSON.stringify([[all, all], [[], []], [["first", "third"], ["first", "third"]]]) ? 0 : 1;
END
